// Package endurance has a network in memory, and tests that hold calls for hours over it, in simulated time: joins, leaves, moves, other
// servers, broken sockets, loss. They show that nothing grows and that nothing stutters but what the network has lost.
//
// It is for tests alone. The network carries streams and datagrams between what runs in one test; it loses nothing by itself.
package endurance
