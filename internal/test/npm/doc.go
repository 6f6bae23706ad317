// Package npm installs and runs third-party programs for Node.js: playwright-core, davey, discord.js. Install scripts
// of packages do not run. Tests that need it run with CLANK_PEERS=1.
package npm
