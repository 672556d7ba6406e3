package redis

import goredis "github.com/redis/go-redis/v9"

// Client is the store's client.
func (s *Store) Client() *goredis.Client { return s.client }
