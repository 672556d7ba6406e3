// Package eventlog keeps what happens in conversations: events that are appended
// under the name of a conversation, with numbers from 1, and read back byte for
// byte. It knows nothing of what they say. A log of memory ends with the process;
// one on disk survives it, however it ends. Both are rings: what is beyond their
// bounds in bytes or in age is forgotten, the oldest first.
package eventlog
