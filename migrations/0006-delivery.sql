-- Webhook push: how far each integration has been told, what failed and is due again, and what was given up.

-- Everything up to the cursor is delivered, in deliveries, parked, or not to be pushed. A worker serves a lane while it holds
-- the lease. Cursor and last id of the log are compared by their parts, so that a sweep of all lanes touches no row of the log.
create table delivery_lanes (
  integration_id uuid primary key,
  organization_id uuid not null,
  cursor_ms bigint not null default 0,
  cursor_seq bigint not null default 0,
  -- The earliest due_at in deliveries.
  retry_at timestamptz,
  lease_owner uuid,
  lease_until timestamptz
) with (fillfactor = 50);
create index delivery_lanes_organization on delivery_lanes (organization_id);

-- Rows of the log that the cursor has passed without success. push_epoch is that of the row, or of the redrive.
create table deliveries (
  integration_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  push_epoch int not null,
  -- Finished attempts. 0: the first one was under way when this was written, or the row was redriven.
  attempts int not null,
  due_at timestamptz not null,
  primary key (integration_id, id)
);
create index deliveries_due on deliveries (integration_id, due_at);

create table dead_letters (
  integration_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  attempts int not null,
  last_error text not null,
  parked_at timestamptz not null,
  primary key (integration_id, id)
);

-- Append-only. The id is made by the program, so that a batch whose commit went unheard can be written again.
create table delivery_attempts (
  integration_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  event_id uuid not null,
  attempt int not null,
  started_at timestamptz not null,
  duration_ms int not null,
  status_code int,
  error text,
  primary key (integration_id, id)
) partition by range (id);
create table delivery_attempts_default partition of delivery_attempts default;
