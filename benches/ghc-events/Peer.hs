{-# LANGUAGE BangPatterns #-}
-- What ghc-events takes for the same log:
--   peer count FILE      reads and counts the events, and keeps none
--   peer sort FILE       sorts them by time, as every tool has to that shows them, and counts
module Main (main) where

import Data.List (foldl')
import GHC.RTS.Events
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["count", file] -> report id file
    ["sort", file] -> report sortEvents file
    _ -> die "usage: peer count|sort FILE"

report :: ([Event] -> [Event]) -> FilePath -> IO ()
report order file = do
  result <- readEventLogFromFile file
  case result of
    Left message -> die message
    Right (EventLog _ (Data events)) ->
      putStrLn (show (foldl' step (0 :: Int) (order events)) ++ " events")

-- Looks at each event, so that it is decoded.
step :: Int -> Event -> Int
step !n event = evTime event `seq` evSpec event `seq` n + 1
