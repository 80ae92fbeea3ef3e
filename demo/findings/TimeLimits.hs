-- A consumer sets a time limit for each of many tiny messages, or one for all of them.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.IntMap.Strict as Map
import Data.Maybe (fromMaybe)
import System.Environment (getArgs)
import System.Timeout (timeout)

limited :: a -> IO a -> IO a
limited otherwise' act = fromMaybe otherwise' <$> timeout 2000000 act

handle :: Map.IntMap Int -> Int -> IO (Map.IntMap Int)
handle table key = evaluate (Map.insertWith (+) (key `mod` 2000) 1 table)

consume :: String -> [Int] -> IO (Map.IntMap Int)
consume "each" keys = foldM (\table key -> limited table (handle table key)) Map.empty keys
consume _ keys = limited Map.empty (foldM handle Map.empty keys)

main :: IO ()
main = do
  [mode] <- getArgs
  done <- newEmptyMVar
  _ <- forkIO (consume mode [1 .. 24000] >>= putMVar done)
  takeMVar done >>= print . Map.size
