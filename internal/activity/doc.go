// Package activity implements clank's Discord Activity: a page in a frame of Discord's client that shows the sessions
// of the channel in which it is open, and lets people stop and steer them and control their pages.
//
// The page runs behind Discord's proxy, which forwards everything below "/.proxy/" and frames it from another origin;
// it can reach only this package's [Server]. People sign in with OAuth2. Where the Activity is open and who is in it
// comes from Discord's API, never from the page. A token is for one person in one instance, is kept only in the page,
// and is valid for [Lifetime]. People have the rights that they have in Discord, which are checked for each request
// and, while they watch, every half minute.
//
// The package contains Discord's Embedded App SDK, assets/sdk.js, built by scripts/bundle-activity-sdk. It knows
// neither the gateway nor commands.
package activity
