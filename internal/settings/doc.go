// Package settings holds what an operator may change while the program runs: one table of fields with
// defaults and limits, a typed snapshot that is read without a lock, and the rules by which a change is
// checked and saved. It also reads secrets, which come from the environment or from files it names.
//
// A preset is a set of values under one name; what somebody set by hand overrides it. Routing says by which runtime
// and model a task is done: the task, the override, the preset; if it cannot, it says why and takes no other. Changes
// carry the version they were made from. To add a setting, add a field to Settings and a row to the table.
package settings
