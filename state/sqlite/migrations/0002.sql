-- Records that could not be read are dead letters without inbounds: their raw bytes.
ALTER TABLE dead_letter ADD COLUMN raw BLOB;
