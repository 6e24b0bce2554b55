"""Sources of evidence, one file each: every one turns moves or decisions into rows of an `EvidenceTable`."""
