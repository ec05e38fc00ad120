-- The id that a device would send by default belongs to it, whether it uses it or not: another device that took it would get its
-- packets. The program writes the key; devices of before get it here, by the rules of section 3.2.
alter table devices add column terminal_default_key text collate "C";
update devices set terminal_default_key = case protocol_slug
  when 'watch' then substr(uid, 5, 10)
  when 'h02' then substr(uid, 5, 10)
  when 'jt808' then coalesce(nullif(ltrim(right(uid, 12), '0'), ''), '0')
end;
create index devices_live_terminal_default on devices (protocol_slug, terminal_default_key)
  where deleted_at is null and terminal_default_key is not null;
