// Package delivery is the server's side of DAVE: it proposes who is added and removed, picks a commit,
// hands out Welcomes and leads everybody to the next epoch. It has no sockets, no clock and no keys of the
// group.
package delivery
