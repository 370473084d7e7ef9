package transcript

import (
	"context"
	"database/sql"
)

// DB gives tests the connection of a store that writes.
func (s *Store) DB() *sql.Conn { return s.writer.conn }

// Statements whose plans are tested.
const (
	DeleteExpired = deleteExpired
	SelectState   = selectState
	SelectInfos   = selectInfos
)

// Migrations are those of the schema.
var Migrations = migrations

// DeletionQueries are the statements of the transaction that deletes sessions.
var DeletionQueries = map[string]string{
	"begin": beginImmediate, "check": selectInfo, "cells": deleteCellsOf, "session": deleteSession, "commit": commit,
}

// BreakStatement lets a statement of the writer fail.
func (s *Store) BreakStatement(query string) {
	s.turn <- struct{}{} // the indexer may be at it
	defer func() { <-s.turn }()
	s.writer.stmts[query].Close()
}

// ReplaceCommit lets another statement run in the place of COMMIT.
func (s *Store) ReplaceCommit(query string) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.writer.stmts[commit].Close()
	stmt, err := s.writer.conn.PrepareContext(context.Background(), query)
	if err != nil {
		panic(err)
	}
	s.writer.stmts[commit] = stmt
}

// BreakLook lets all reading fail, also that which follows a COMMIT of unknown outcome.
func (s *Store) BreakLook() error { return s.reader.db.Close() }

// StopIndexer ends what brings the index in step behind appends, for good.
func (s *Store) StopIndexer() { s.indexer.close() }

// PanicWhileReading panics in the middle of a transaction that reads.
func (s *Store) PanicWhileReading(ctx context.Context) {
	s.read(ctx, func(*transaction) error { panic("while reading") })
}
