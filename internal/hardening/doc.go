// Package hardening keeps secrets of this program out of other programs and out of files that a crash leaves: the
// environment that programs started here get, and core dumps. Starting and ending them is their callers' task.
package hardening
