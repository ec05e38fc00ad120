-- Networks whose logins are answered slowly because too many were refused; for operators.
create table throttled_networks (
  network text primary key,
  throttled_until timestamptz not null
);

-- Networks that the devices of an organization may log in from; none: all.
alter table organizations add column gateway_networks text[] not null default '{}';

-- An open connection that is taken over from another network: who held it before, and when the latest times were.
alter table device_sessions add column network text not null default '';
alter table device_sessions add column previous_remote_addr text;
alter table device_sessions add column takeovers timestamptz[] not null default '{}';
alter table device_sessions add column conflict_at timestamptz;

-- The SIM that the device told last, and when a login with another one was reported.
alter table device_state add column sim_iccid text;
alter table device_state add column sim_imsi text;
alter table device_state add column sim_refused_at timestamptz;
