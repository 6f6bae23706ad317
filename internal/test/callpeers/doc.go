// Package callpeers has tests in which discord.js and its voice library, which nobody here wrote, sit in calls of the emulated
// Discord: with our own end of a call (voice/discord), and with the emulator's people. They decide whether what we send can be
// heard by others; what they need is installed by npm, so they run only with CLANK_PEERS=1 (make test-peers).
//
// It has no code of its own, and it is not for what davey alone can judge: voice/discord/dave has that.
package callpeers
