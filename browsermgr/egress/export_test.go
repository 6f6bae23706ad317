package egress

// ConnectTarget reads what CONNECT names.
func ConnectTarget(s string) (host string, port uint16, ok bool) { return connectTarget(s) }
