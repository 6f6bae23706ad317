// Package settings holds the settings that an operator can change while the program runs: a table of fields with
// defaults and limits, a typed snapshot that is read without a lock, and the checking and saving of changes. It also
// reads secrets from the environment or from files.
//
// A preset is a named set of values; values set by hand override it. Routing selects the runtime and model of a task:
// from the task, the override, or the preset; if that choice cannot be used it reports why, without a fallback.
// Changes name the version they are based on. To add a setting, add a field to Settings and a row to the table.
package settings
