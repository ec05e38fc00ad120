-- What consoles are told as it happens: a line for every new event, acknowledgement, message and command, written by the
-- statement that makes it. Changes of device_state are not in it: they are read from that table itself, so that a packet which
-- raises no alarm writes nothing here.

-- Rows become visible in the order of their commits, not of their ids. A reader that went by ids would pass over a row that is
-- committed late. `seq` is given after the commit, under a lock: who has seen a number has seen all below it.
create table live_changes (
  id bigint primary key generated always as identity,
  seq bigint,
  organization_id uuid not null,
  device_id uuid not null,
  object_id uuid not null,
  kind text collate "C" not null check (kind in ('event', 'event_acknowledged', 'message', 'command')),
  -- The clock of the database: it only says when the row may go.
  created_at timestamptz not null default now()
);
create unique index live_changes_seq on live_changes (seq) where seq is not null;
create index live_changes_new on live_changes (id) where seq is null;
create sequence live_change_seq as bigint;

-- The highest number of an organization that has been deleted: who has seen at least that much misses nothing.
create table live_change_floors (
  organization_id uuid primary key,
  seq bigint not null
);

-- Numbers what has been committed. Zero: nothing is new, or another process is doing it.
create function number_live_changes() returns bigint language plpgsql as $$
declare
  numbered bigint;
begin
  if not exists (select from live_changes where seq is null) then return 0; end if;
  if not pg_try_advisory_xact_lock(hashtext('vigil live changes')) then return 0; end if;
  update live_changes c set seq = n.seq
  from (
    select id, nextval('live_change_seq') as seq
    from (select id from live_changes where seq is null order by id limit 10000) waiting
  ) n
  where c.id = n.id and c.seq is null;
  get diagnostics numbered = row_count;
  return numbered;
end $$;

-- A statement at a time: a batch of packets adds its events in one COPY.
create function log_added_live() returns trigger language plpgsql as $$
begin
  insert into live_changes (organization_id, device_id, object_id, kind)
  select organization_id, device_id, id, tg_argv[0] from added;
  return null;
end $$;
create function log_changed_live() returns trigger language plpgsql as $$
begin
  insert into live_changes (organization_id, device_id, object_id, kind)
  values (new.organization_id, new.device_id, new.id, tg_argv[0]);
  return null;
end $$;

create trigger events_live_added after insert on events referencing new table as added
  for each statement execute function log_added_live('event');
create trigger events_live_acknowledged after update on events for each row
  when (new.acknowledged_at is not null and new.deleted_at is null
    and (old.acknowledged_at, old.acknowledged_by, old.notes)
      is distinct from (new.acknowledged_at, new.acknowledged_by, new.notes))
  execute function log_changed_live('event_acknowledged');

create trigger messages_live_added after insert on messages referencing new table as added
  for each statement execute function log_added_live('message');
create trigger messages_live_changed after update on messages for each row
  when (new.deleted_at is null
    and (old.status, old.failure_reason, old.size_bytes, old.delivered_at, old.read_at)
      is distinct from (new.status, new.failure_reason, new.size_bytes, new.delivered_at, new.read_at))
  execute function log_changed_live('message');

create trigger commands_live_added after insert on commands referencing new table as added
  for each statement execute function log_added_live('command');
create trigger commands_live_changed after update on commands for each row
  when (new.deleted_at is null
    and (old.status, old.attempts, old.result, old.error, old.acked_at, old.completed_at)
      is distinct from (new.status, new.attempts, new.result, new.error, new.acked_at, new.completed_at))
  execute function log_changed_live('command');
