// Package npm installs programs that others wrote for Node.js and runs them: playwright-core, davey,
// discord.js. Scripts of packages do not run. Tests that need it run with CLANK_PEERS=1.
package npm
