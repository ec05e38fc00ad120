-- What the rules know of a device, and what a change of its presence must tell.

-- Whether the device was online before the last write of the row, and since when: a write that changes the presence says so
-- itself, because a statement cannot return what it has overwritten.
alter table device_state add column was_online boolean not null default false;
alter table device_state add column previous_change_at timestamptz;

-- Raised by whoever moves the state of the rules without holding the device's connection (timers, positions that are looked
-- up). The process that holds it has the state in memory, writes this row with every packet, and under another number reads
-- the state again first.
alter table device_state add column rule_version int not null default 0;

-- Sides of fences, breaches and the battery. Most packets change none of it and write nothing here. Written only while the
-- state row of the device is locked.
create table rule_states (
  device_id uuid primary key,
  organization_id uuid not null,
  state jsonb not null,
  -- When time alone changes something: a confirmation, a stay, a duration, the end of a pause.
  due_at timestamptz
) with (fillfactor = 70);
create index rule_states_due on rule_states (due_at) where due_at is not null;
create index rule_states_organization on rule_states (organization_id);

-- Up to which version of an organization's rules the due times above are those of the rules: a stay that was not watched for
-- may be by now, and its device silent.
create table rule_plans (
  organization_id uuid primary key,
  version bigint not null
);

-- The version of the organization's rules that brought the shape of a fence. A device that was heard under it, and has left no
-- state, was outside.
alter table geofences add column shape_version bigint not null default 0;
alter table geofences add column versioned_shape int;
