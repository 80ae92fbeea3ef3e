{-# LANGUAGE BangPatterns #-}
-- What ghc-events takes for the same log:
--   peer count FILE      reads and counts the events, and keeps none
--   peer keep FILE       reads all events into memory, as a tool has to that looks at them twice
--   peer list FILE       lists them, but for the markers of blocks
--   peer sort FILE       sorts them by time, as a tool has to that shows them
module Main (main) where

import Data.List (foldl')
import GHC.RTS.Events
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["count", file] -> report count file
    ["keep", file] -> report (\events -> count events `seq` length events) file
    ["list", file] -> listed file
    ["sort", file] -> report (count . sortEvents) file
    _ -> die "usage: peer count|keep|sort|list FILE"

report :: ([Event] -> Int) -> FilePath -> IO ()
report look file = do
  result <- readEventLogFromFile file
  case result of
    Left message -> die message
    Right (EventLog _ (Data events)) -> putStrLn (show (look events) ++ " events")

listed :: FilePath -> IO ()
listed file = do
  result <- readEventLogFromFile file
  case result of
    Left message -> die message
    Right (EventLog _ (Data events)) -> mapM_ row events
  where
    row Event { evSpec = EventBlock {} } = pure ()
    row event = putStrLn (show (evTime event, evCap event, evSpec event))

-- Looks at each event, so that it is decoded.
count :: [Event] -> Int
count = foldl' step 0
  where step !n event = evTime event `seq` evSpec event `seq` n + 1
{-# NOINLINE count #-}
