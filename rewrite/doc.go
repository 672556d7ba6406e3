// Package rewrite is the vocabulary that every dialect shares: what a request
// asks for, what a reply reports, what a failure says. It does no I/O, keeps no
// clock and knows no vendor; its subpackages each hold one dialect or one pass.
package rewrite
