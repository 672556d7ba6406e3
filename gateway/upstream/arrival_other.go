//go:build !unix

package upstream

import "net"

// arrival cannot look into a connection here.
type arrival struct{}

func newConn(plain *net.TCPConn) *conn { return &conn{TCPConn: plain} }

// closedByPeer cannot tell. A connection that was closed is noticed by the
// exchange, which then dials anew.
func (*conn) closedByPeer() bool { return false }

func (*arrival) waits() bool { return false }

func (*arrival) read(bool) (*buffer, int, error) { panic("BUG: read without waits") }
