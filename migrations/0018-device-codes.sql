-- The code by which a device proves itself, in protocols where the server hands one out at registration. Made with the first
-- registration, stored before the device is told, and required from then on.
create table device_codes (
  device_id uuid primary key,
  organization_id uuid not null,
  code text not null,
  created_at timestamptz not null
);
