// Package sharing shows the page of a browser session to the people of a call: one share for each call, on the first stage that
// will have it (the call's own page, Discord's Go Live, a link to a viewer page), with the checks of who may share what, the tools by
// which models ask for it, and the links.
//
// It takes no pictures (videosource does) and carries none: a [Stage] does, in a package of its own.
package share
