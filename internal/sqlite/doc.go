// Package sqlite stores the program's state in one SQLite file: sessions, tasks, steps, settings, watches, spending,
// opt-outs from calls. Migrations are numbered and embedded.
//
// It implements the store interfaces of the packages that own the data. It makes no decisions and has no clock.
package sqlite
