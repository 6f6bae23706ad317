// Package atomicfile writes files completely or not at all, even if the power fails. Callers do their own locking.
package atomicfile
