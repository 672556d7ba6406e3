// Package display is how much of a conversation is shown in a terminal, by whom it is
// for: the settings that a person writes, and what they come to for one block of a
// tool's result. It draws nothing.
package display
