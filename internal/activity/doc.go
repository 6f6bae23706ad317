// Package activity is clank as a Discord Activity: a page in a frame of Discord's client that shows the sessions of the
// channel in which it is open, and lets people stop and steer them and work their pages.
//
// The page runs below Discord's proxy, which passes on everything below "/.proxy/" and frames it from another origin;
// it reaches nothing but this package's [Server]. Who somebody is they show by OAuth2, and where the Activity is open
// and who is in it Discord says itself: what the page claims does not count. A token is for one person in one instance,
// lives in the page only, and is good for [Lifetime]. Rights are those that the person has in Discord, and are looked
// at again for each request and, while they watch, every half minute.
//
// The package isolates Discord's Embedded App SDK, assets/sdk.js, which scripts/bundle-activity-sdk makes. It knows
// neither the gateway nor commands.
package activity
