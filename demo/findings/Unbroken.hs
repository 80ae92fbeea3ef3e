-- | Two shares of work on each of two capabilities, one of them ten times as large. Where it does not
-- allocate, nothing interrupts it, and who stands behind it waits for its end.
--
-- > Unbroken loop    the work does not allocate
-- > Unbroken list    it does
-- > Unbroken halves  two threads, of which one has three times the work of the other; neither allocates
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let work = if how == "list" then list else loop 7
  answers <- forM (if how == "halves" then [10, 30] else [20, 2, 2, 2]) $ \share -> do
    answer <- newEmptyMVar
    thread <- forkIO (evaluate (work (share * 1000000)) >>= putMVar answer)
    labelThread thread ("share " ++ show share)
    return answer
  mapM takeMVar answers >>= print . sum

loop :: Int -> Int -> Int
loop sofar 0 = sofar
loop sofar left = loop ((sofar * 31 + left) `mod` 1000003) (left - 1)
{-# NOINLINE loop #-}

list :: Int -> Int
list upTo = fromInteger (sum (map (`mod` 1003) [1 .. toInteger upTo]))
{-# NOINLINE list #-}
