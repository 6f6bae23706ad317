// Package delivery implements the server's side of DAVE (an MLS delivery service): it proposes additions and
// removals, picks a commit, distributes Welcomes and moves all members to the next epoch. It has no sockets, no clock
// and no keys of the group.
package delivery
