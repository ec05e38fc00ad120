-- Raised by every change of the row, so that whoever holds its settings sees that they are no longer current. The number of the
-- transaction that wrote a row would tell the same on one server, but not where the row has copies on several.
alter table integrations add column revision bigint not null default 0;
