-- Whether webhooks arrive: at a glance, in detail, and by mail when they do not.

-- The beginning of what the receiver answered; null when nothing came, and in rows of before.
alter table delivery_attempts add column answer text;

-- Attempts of an hour by how long they took: health is read from few rows, however many deliveries there were. `bucket` is the
-- number of bounds in outbound/latency-buckets.ts that the duration reached.
create table delivery_hours (
  integration_id uuid not null,
  hour timestamptz not null,
  bucket int not null,
  organization_id uuid not null,
  delivered int not null,
  failed int not null,
  primary key (integration_id, hour, bucket)
) with (fillfactor = 50);

-- Webhooks that fail, and those whose administrators have a mail about it. No row: all is well.
create table webhook_troubles (
  integration_id uuid primary key,
  organization_id uuid not null,
  -- The first failed attempt since the last one that succeeded; null: it has recovered, and the mail that says so is due.
  failing_since timestamptz,
  mailed_at timestamptz
);
create index webhook_troubles_organization on webhook_troubles (organization_id);
