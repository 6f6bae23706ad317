// Package terminal talks with the person at a terminal while a task is worked: it tells how the task goes, and asks what is
// asked before something is done. It is not for answers, which go to the standard output, nor for whom a question is meant.
package terminal
