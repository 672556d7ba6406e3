// Package view shows a conversation as others are to see it: pure functions from the
// events of a log to a projection of them. A projection may hold a response without
// its request, so nothing that rewrites requests takes one.
package view
