package server

import "clank/sessions"

// machineMemory keeps tasks from starting when memory is low. It implements [sessions.Machine].
type machineMemory struct{ server *Server }

// least is the percentage of memory that must be available to start another task.
func (m machineMemory) least() int { return m.server.Settings.Current().MinFreeMemory }

// Shortage implements [sessions.Machine].
func (m machineMemory) Shortage() string {
	least := m.least()
	if share, known := availableMemory("/"); least == 0 || !known || 100*share >= float64(least) {
		return ""
	}
	return sessions.ShortMemory
}
