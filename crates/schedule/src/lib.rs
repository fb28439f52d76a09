//! From a finding to a schedule.
