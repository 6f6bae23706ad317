// Package aimock holds tests of our model clients against aimock, a server of model vendors' protocols that nobody here
// wrote. npm installs it, so it only runs where CLANK_PEERS asks for it: make test-peers.
package aimock
