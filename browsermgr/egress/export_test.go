package egress

import "clank/browsermgr/egress/policy"

// ConnectTarget reads what CONNECT names.
func ConnectTarget(s string) (host string, port uint16, ok bool) { return connectTarget(s) }

// HostHeader returns the Host that a server is sent.
func HostHeader(t policy.Target) string { return hostHeader(t) }
