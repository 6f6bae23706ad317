// Package hardening keeps secrets of this process out of other processes and out of crash dumps: it provides the
// environment for child processes, and disables core dumps. It does not start or end processes.
package hardening
