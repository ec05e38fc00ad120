-- What applied until a change of a threshold, or of who holds a device: a breach is over when its rule did not apply in between,
-- also if it does again before anybody has looked. Null for other changes, and for those before this column.
alter table rule_changes add column before jsonb;
