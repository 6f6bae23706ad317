// Package endurance runs calls over an in-memory network for hours of simulated time: joins, moves, broken
// connections, packet loss. Resources must not grow, and audio must have no gaps except those of lost packets.
package endurance
