// Package atomicfile writes files that are whole or not there, also after a power cut. Locks are their callers' task.
package atomicfile
