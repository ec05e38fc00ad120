-- The trace that made the row, as a header of W3C Trace Context, where one is recorded: its delivery goes on with it.
alter table outbound_events add column trace text;
