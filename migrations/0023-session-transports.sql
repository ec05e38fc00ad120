-- The sender of a datagram may be forged: one that takes an open TCP connection over is told from a device that has moved.
alter table device_sessions add column transport text not null default 'tcp';
