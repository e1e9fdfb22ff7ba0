-- The group whose members see a queue that is not shared with everybody. Null for private queues and for those of the previous version.
ALTER TABLE desk_queues ADD COLUMN group_id uuid;
