-- | Parallel work with a part in its middle that one thread does alone.
--
-- > Serial serial    the middle is done by main
-- > Serial par       the middle is done by four threads as well
-- > Serial merge     two threads work, and main goes on with what they have
-- > Serial sort    two threads make lists, and main sorts all of them, which collections copy again and again
-- > Serial left    two threads work, and leave sums that they have not evaluated to main
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.List (sort)
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  myThreadId >>= (`labelThread` "main")
  case how of
    "serial" -> together >> work 60 0 >> together
    "merge" -> parts 2 30 >> work 60 0
    "sort" -> sorted
    "left" -> do
      sums <- newMVar []
      parts 2 15
      dones <- forM [1 .. 2] $ \salt -> do
        done <- newEmptyMVar
        _ <- forkIO $ do
          forM_ [1 .. 40] (\k -> modifyMVar_ sums (pure . (total (300000 + salt * k) :)))
          putMVar done ()
        pure done
      mapM_ takeMVar dones
      readMVar sums >>= print . sum
    _ -> together >> together >> together

sorted :: IO ()
sorted = do
  lists <- forM [1, 2] $ \seed -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      let next n = (n * 1103515245 + 12345) `mod` 2147483648 :: Int
          list = map (\n -> iterate next n !! 12) (take 100000 (iterate next seed))
      _ <- evaluate (sum list)
      putMVar done list
    pure done
  whole <- concat <$> mapM takeMVar lists
  print (sum (zipWith (*) (cycle [1, -1]) (sort whole)))

-- | Four threads, a capability each.
together :: IO ()
together = parts 4 15

-- | So many threads, a capability each, with so much work each.
parts :: Int -> Int -> IO ()
parts threads times = do
  dones <- forM [0 .. threads - 1] $ \cap -> do
    done <- newEmptyMVar
    thread <- forkOn cap (work times cap >> putMVar done ())
    labelThread thread ("worker-" ++ show cap)
    pure done
  mapM_ takeMVar dones

work :: Int -> Int -> IO ()
work times salt = forM_ [1 .. times] (evaluate . total . (+ (300000 + salt)))

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}
