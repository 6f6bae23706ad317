// Package corpus is the tasks that every backend is tried on: sites, steps, and what must come of them, with scripted
// models that lead each backend along them. Everything between the words and the page is tried, except judgement.
package corpus
