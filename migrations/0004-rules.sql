-- What partners want to be told about: fences around places and bounds of readings.

create table geofences (
  id uuid primary key,
  organization_id uuid not null references organizations,
  name text collate "C" not null,
  description text not null,
  lat double precision not null,
  lng double precision not null,
  radius_m double precision not null check (radius_m > 0 and radius_m <= 50000),
  trigger_on_enter boolean not null,
  trigger_on_exit boolean not null,
  trigger_on_dwell boolean not null,
  dwell_threshold_seconds int,
  schedule jsonb,
  is_active boolean not null,
  scope text not null check (scope in ('org', 'user', 'device')),
  user_id uuid references users,
  -- Raised when centre or radius change and when the fence becomes active again: what was known of a device's side of it
  -- no longer holds, and its next fix says where it is without an event.
  shape_revision int not null,
  search text collate "C" not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check ((scope = 'user') = (user_id is not null))
);
create index geofences_name on geofences (organization_id, name, id) where deleted_at is null;
create index geofences_radius on geofences (organization_id, radius_m, id) where deleted_at is null;
create index geofences_created on geofences (organization_id, created_at, id) where deleted_at is null;
create index geofences_updated on geofences (organization_id, updated_at, id) where deleted_at is null;
create index geofences_scope on geofences (organization_id, scope, name, id) where deleted_at is null;
create index geofences_inactive on geofences (organization_id, name, id) where deleted_at is null and not is_active;
create index geofences_user on geofences (user_id) where deleted_at is null and user_id is not null;
-- For the processes that read all rules of an organization, part by part.
create index geofences_rules on geofences (organization_id, id) where deleted_at is null and is_active;
create index geofences_search on geofences using gin (search gin_trgm_ops) where deleted_at is null;

create table geofence_devices (
  geofence_id uuid not null references geofences,
  device_id uuid not null references devices,
  organization_id uuid not null,
  linked_at timestamptz not null,
  primary key (geofence_id, device_id)
);
create index geofence_devices_device on geofence_devices (device_id, geofence_id);

create table alert_thresholds (
  id uuid primary key,
  organization_id uuid not null references organizations,
  scope smallint not null check (scope in (10, 15, 20)),
  user_id uuid references users,
  device_id uuid references devices,
  metric_key text collate "C" not null,
  low double precision,
  high double precision,
  severity smallint not null check (severity in (10, 20, 30)),
  override_mode smallint not null check (override_mode in (10, 20, 30)),
  is_active boolean not null,
  min_duration_seconds int not null,
  clear_margin double precision not null,
  cooldown_seconds int not null,
  -- Raised by each change: a breach of the rule as it was before is over.
  revision int not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check (low is not null or high is not null),
  check ((scope = 20) = (user_id is not null)),
  check ((scope = 15) = (device_id is not null))
);
create unique index alert_thresholds_target on alert_thresholds
  (organization_id, metric_key, scope, coalesce(user_id, device_id, organization_id)) where deleted_at is null;
create index alert_thresholds_scope on alert_thresholds (organization_id, scope, id) where deleted_at is null;
-- One scope in the default order: the few rows of the organization among those of all its devices.
create index alert_thresholds_scope_metric on alert_thresholds (organization_id, scope, metric_key, id)
  where deleted_at is null;
create index alert_thresholds_rules on alert_thresholds (organization_id, id) where deleted_at is null and is_active;
create index alert_thresholds_metric on alert_thresholds (organization_id, metric_key, id) where deleted_at is null;
create index alert_thresholds_created on alert_thresholds (organization_id, created_at, id) where deleted_at is null;
create index alert_thresholds_user on alert_thresholds (user_id) where deleted_at is null and user_id is not null;
create index alert_thresholds_device on alert_thresholds (device_id) where deleted_at is null and device_id is not null;

-- Raised in the transaction of every change that can alter which rules apply to a device, so that a process which has read the
-- rules knows whether they still hold.
create table rule_versions (
  organization_id uuid primary key references organizations,
  version bigint not null
);

-- What each version changed, so that a process with many rules in memory reads again only those. The oldest are deleted as new
-- ones come; a process that is further behind reads everything.
create table rule_changes (
  organization_id uuid not null,
  version bigint not null,
  kind text not null check (kind in ('geofence', 'threshold', 'device', 'all')),
  object_id uuid not null,
  primary key (organization_id, version, kind, object_id)
);
