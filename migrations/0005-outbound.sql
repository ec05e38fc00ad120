-- The outbound log: what partners are told, one row per event and integration.

-- Ids of one integration are given under the lock of its row here, right before the commit, and always above the last one
-- given: no row can become visible behind a cursor that has passed it. Apart from the integration, because every batch of
-- packets updates it.
create table outbound_lanes (
  integration_id uuid primary key,
  organization_id uuid not null,
  -- Part of every id, so that no two integrations ever have the same.
  lane int not null generated always as identity,
  -- The last id given, or above it: numbers are taken ahead and some stay unused.
  last_ms bigint not null default 0,
  last_seq bigint not null default 0,
  -- Rows made under this number are pushed; null while there is no webhook or the integration is disabled. A number that is
  -- over is never taken up again.
  push_epoch int,
  push_epochs int not null default 0
) with (fillfactor = 50);
create index outbound_lanes_organization on outbound_lanes (organization_id, integration_id);

insert into outbound_lanes (integration_id, organization_id, push_epoch, push_epochs)
select id, organization_id, case when status = 'active' and webhook_url is not null then 1 end, 1
from integrations where status <> 'deleted';

create table outbound_events (
  integration_id uuid not null,
  id uuid not null,
  organization_id uuid not null,
  device_uid text collate "C" not null,
  type text collate "C" not null,
  occurred_at timestamptz not null,
  push_epoch int,
  -- The whole envelope, byte for byte as it is signed, sent and replayed.
  body text not null,
  primary key (integration_id, id)
) partition by range (id);
-- Replay of few types among many rows.
create index outbound_events_type on outbound_events (integration_id, type, id);

-- Ids follow the clock of the past: one that was set forward and back again leaves them where no partition was made.
create table outbound_events_default partition of outbound_events default;
