package server

import "clank/sessions"

// machineMemory keeps tasks from starting that the machine's memory may not suffice for.
type machineMemory struct{ server *Server }

// least is what must be available of the machine's memory for a further task to start, in percent.
func (m machineMemory) least() int { return m.server.Settings.Current().MinFreeMemory }

// Shortage implements [sessions.Machine].
func (m machineMemory) Shortage() string {
	least := m.least()
	if share, known := availableMemory("/"); least == 0 || !known || 100*share >= float64(least) {
		return ""
	}
	return sessions.ShortMemory
}
