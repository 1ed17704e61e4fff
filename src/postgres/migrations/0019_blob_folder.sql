-- Marks the folder in which the nodes of this database keep uploads; null where none has had one yet, as with S3.
alter table environment add column blob_folder uuid;
