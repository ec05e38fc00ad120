-- Lists that are ordered or counted by what lies beside the record.

-- Every device has a state row from its registration on, and the row says whether the device lives: lists by presence are read
-- from these narrow rows alone.
alter table device_state add column is_live boolean not null default true;
insert into device_state (device_id, organization_id, is_online, last_status)
select id, organization_id, false, '{}' from devices
on conflict (device_id) do nothing;
update device_state s set is_live = false from devices d where d.id = s.device_id and d.deleted_at is not null;
drop index device_state_online;
create index device_state_online on device_state (organization_id, is_online, device_id) where is_live;

create index invitations_expires on invitations (organization_id, expires_at, id) where deleted_at is null;
create index invitations_email on invitations (organization_id, email, id) where deleted_at is null;
create index invitations_status on invitations (organization_id, status, id) where deleted_at is null;
create index invitations_status_created on invitations (organization_id, status, created_at, id) where deleted_at is null;
create index invitations_overdue on invitations (organization_id, expires_at) where status = 10 and deleted_at is null;
