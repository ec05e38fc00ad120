-- Orders and filters of lists that had no index of their own.

-- Every packet moves `last_seen_at`, and an index on it would double the cost of that update. The half minute it lies in changes
-- seldom, so its indexes are written seldom; within one of them the database sorts. Devices that were never seen come last in
-- both directions, which takes an index for each.
alter table device_state add column seen_slot int
  generated always as (floor(date_part('epoch', last_seen_at at time zone 'UTC') / 30)::int) stored;
create index device_state_seen_first on device_state (organization_id, seen_slot) where is_live;
create index device_state_seen_last on device_state (organization_id, seen_slot desc nulls last) where is_live;

create index audit_log_id on audit_log (organization_id, id);
create index audit_log_action_id on audit_log (organization_id, action, id);
create index audit_log_actor_type on audit_log (organization_id, actor_type, timestamp desc);
