// Package sqlite keeps what the program remembers in one SQLite file: sessions, tasks, steps, settings,
// watches, what was spent, who opted out of calls. Migrations are numbered and embedded.
//
// It implements the stores of the packages whose these are. It decides nothing and has no clock.
package sqlite
